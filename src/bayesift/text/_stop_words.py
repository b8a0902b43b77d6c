"""Function words by language: articles, pronouns, prepositions, conjunctions, auxiliary verbs and a few adverbs.

Short lists, written for this package; tokens of one letter need not be listed, since the default rule finds none.
"""

from __future__ import annotations

_WORDS = {
    "danish": """
        ad af aldrig alle alt anden andet andre at blev blive bliver bort da de dem den denne der deres det
        dette dig din dine disse dit dog du efter eller en end er et flere for fordi fra før gennem gør gøre ham
        han hans har havde have hele hen hende hendes her hos hun hvad hver hvilke hvilken hvis hvor hvordan
        hvorfor hvornår igen ikke ind ingen intet ja jeg jer jeres kan kom komme kun kunne lige man mange med
        meget mellem men mens mere mest mig min mine mit mod må måtte ned nej nogen noget nogle nok nu når og
        også om op os over på se selv sig sin sine sit skal skulle som så sådan thi til ud uden under var ved vi
        vil ville vor være været
    """,
    "dutch": """
        aan al alle alleen alles als altijd ander andere ben bij daar dan dat de der deze die dit doch doen door
        dus een eens en er ge geen geweest had hadden heb hebben heeft hem het hier hij hoe hun iemand iets ik
        in is ja je jij jouw jullie kan kon kunnen maar me meer men met mij mijn moet moeten na naar net niet
        niets nog nu of om omdat onder ons onze ook op over reeds te tegen ten ter toch toen tot tussen uit uw
        van veel voor waar waarom wanneer want waren was wat we weer welke werd wezen wie wij wil willen word
        worden wordt zal ze zelf zich zij zijn zo zonder zou zouden zowel
    """,
    "french": """
        afin ai aie aient ainsi alors après as au aucun aucune aujourd auquel aussi autre autres aux avaient
        avait avant avec avez avoir avons ayant bien car ce ceci cela celle celles celui cependant ces cet cette
        ceux chaque chez ci comme comment contre dans de depuis des deux donc dont du duquel dès elle elles en
        encore enfin entre envers es est et eu eux fait font furent fut hors hui il ils je jusqu jusque la
        laquelle le lequel les lesquelles lesquels leur leurs lors lorsque lui là ma mais malgré me mes mien moi
        moins mon même mêmes ne ni non nos notre nous on ont or ou où par parce parmi pas pendant peu peut
        peuvent plus plusieurs pour pourquoi puis puisque qu quand que quel quelle quelles quelque quelques
        quels qui quoi sa sans sauf se selon sera seront ses seulement si sien soi soient soit sommes son sont
        sous suis sur ta tandis tant te tel telle telles tels tes toi ton toujours tous tout toute toutes trop
        très tu un une vers voici voilà vos votre vous étaient était étant étiez étions être
    """,
    "german": """
        ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes ans auch auf
        aus außer bei beim bevor bin bis bist da dabei dadurch dafür daher damit danach dann daran darauf darin
        darum darüber das dass davon davor dazu daß dein deine deinem deinen deiner deines dem den denen denn
        dennoch der deren des deshalb dessen dich die dies diese diesem diesen dieser dieses dir doch dort du
        durch dürfen ebenso ein eine einem einen einer eines einige einigen einiger einmal er es etwa etwas euch
        euer eure eurem euren eurer falls für gegen gibt hab habe haben hast hat hatte hatten hier hin hinter
        ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja je jede jedem jeden jeder
        jedes jedoch jene jenem jenen jener jenes kann kannst kein keine keinem keinen keiner keines konnte
        konnten können könnte man manche manchem manchen mancher mehr mein meine meinem meinen meiner meines
        mich mir mit muss musste müssen nach nachdem nicht nichts noch nun nur ob obwohl oder ohne schon sehr
        sein seine seinem seinen seiner seines seit selbst sich sie sind so sobald solch solche solchem solchen
        solcher soll sollen sollte sollten sondern sowie um und uns unser unsere unserem unseren unserer unter
        vom von vor wann war waren warum was weder weil welche welchem welchen welcher welches wem wen wenn wer
        werde werden weshalb wie wieder will wir wird wirst wo wohl wollen wollte worden wurde wurden während
        würde würden zu zum zur zwar zwischen über
    """,
    "italian": """
        abbia abbiamo agli ai al alcuna alcune alcuni alcuno alla alle allo allora altra altre altri altro anche
        ancora avere avete aveva avevano avuto bene che chi ci cioè ciò coi col come con contro cosa così cui da
        dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di dopo dove due dunque durante
        ebbe ecco ed egli era erano essa esse essere essi esso fa fare fin fino fra fu furono già gli ha hai
        hanno ho il in infatti invece io la le lei lo loro lui ma me mentre mi mia mie miei mio molta molte
        molti molto ne negli nei nel nella nelle nello nessun nessuna noi non nostra nostre nostri nostro né
        ogni oltre or ora per perché però più poco poi prima proprio può qua qual quale quali quando quanta
        quante quanti quanto quasi quella quelle quelli quello questa queste questi questo qui quindi saranno
        sarà se sei sempre senza si sia siamo siano siete sono sopra sotto sta stata state stati stato stesso su
        sua sue sugli sui sul sulla sulle sullo suo suoi sé tale tali te ti tra tu tua tue tuo tuoi tutta tutte
        tutti tutto un una uno vi voi vostra vostre vostri vostro
    """,
    "norwegian": """
        alle andre at av bare begge ble blei bli blir blitt både da de deg dei deim deira dem den denne der dere
        deres det dette di din disse ditt du dykk eg ein eit eller elles en enn er et ett etter for fordi fra
        frå før ha hadde han hans har hennar henne hennes her hit hjå ho hun hva hvem hver hvilke hvilken hvis
        hvor hvordan hvorfor ikke ikkje ingen inn ja jeg kan kom kun kunne kva kvar kvarhelst kven kvifor man
        mange me med medan meg meget mellom men mens mer mest min mine mitt mot mye må måtte ned nei noe noen
        noko nokon nokre nå når og også om opp oss over på seg selv si sia sidan siden sin sine sitt skal skulle
        slik som så sånn til um under upp ut uten var vart ved vere vi vil ville vore vort være vært
    """,
    "portuguese": """
        agora ainda algo algum alguma algumas alguns alguém ali ante antes ao aos após aquela aquelas aquele
        aqueles aquilo as assim até cada com como contra contudo da dado daquela daquele das de dela delas dele
        deles depois desde dessa desse desta deste do dos durante ela elas ele eles em enquanto entre então era
        eram essa essas esse esses esta estamos estar estas estava estavam este estes estou está estão eu foi
        foram fosse fui há isso isto já lhe lhes logo mais mas me mediante menos mesma mesmas mesmo mesmos meu
        meus minha minhas muita muitas muito muitos na nas nem nenhum nenhuma nessa nesse nesta neste no nos
        nossa nossas nosso nossos num numa não nós ou outra outras outro outros para pela pelas pelo pelos
        perante pois por porque portanto porém pouco quais qual qualquer quando quanto que quem se seja sejam
        sem sempre sendo ser será serão seu seus sob sobre somos sou sua suas são só tal também tanto tem temos
        tenha tenho ter teu teus teve ti tinha tinham toda todas todo todos tu tua tuas tudo têm um uma umas uns
        vai você vocês vos vão vós
    """,
    "russian": """
        без более больше бы был была были было быть вам вас ваш ваша ваше ваши ведь весь во вот впрочем все
        всего всей всем всех всю всё вы где да даже для до его ее ей ему если есть еще ещё её же за здесь из или
        им ими их как какая какой когда которая которого которое которой котором которую которые который которых
        кто куда ли либо лишь между меня мне много может можно мой моя мы на над надо нас не него нее ней нельзя
        нем нет неё ни нибудь них но ну об однако он она они оно от перед по под после потом потому почти при
        про раз разве сам сама сами само свое своего своей свои своих свой свою со собой так такая также такие
        такой там тебе тебя тем теперь то тобой тогда того тоже той только том тот тою тут ты уж уже хотя чего
        чем через что чтобы чуть эта эти этих это этого этой этом этот эту
    """,
    "spanish": """
        al algo alguien alguna algunas alguno algunos algún allá allí ante antes aquel aquella aquellas aquello
        aquellos aquí así aunque aún bajo bien cada casi como con contra cual cuales cualquier cuando cuanto
        cuál cuándo cómo de debe deben del desde donde dos durante dónde el ella ellas ello ellos en entonces
        entre era erais eran eras eres es esa esas ese eso esos esta estaba estaban estamos estar estas este
        esto estos estoy está están fue fueron fui ha haber había habían hace hacia han hasta hay he hemos la
        las le les lo los luego me mediante menos mi mientras mis misma mismo mismos muy más mí mía mías mío
        míos nada nadie ni ninguna ninguno ningún no nos nosotras nosotros nuestra nuestras nuestro nuestros
        nunca os otra otras otro otros para pero poco por porque pues que quien quienes quién qué se sea sean
        según ser será serán si sido siempre siendo sin sino sobre sois solo somos son soy su sus suya suyas
        suyo suyos sí sólo tal también tampoco tan tanto te tenemos tener tengo tenía ti tiene tienen toda todas
        todavía todo todos tras tu tus tuya tuyo tú un una unas uno unos usted ustedes vosotras vosotros vuestra
        vuestro ya yo él éramos
    """,
    "swedish": """
        aldrig alla allt alltid alltså andra annan annat att av bara blev bli blir blivit bort både de dem den
        denna deras dess dessa det detta dig din dina dit ditt dock du där därför då efter eftersom eller en er
        era ert ett från för före genom ha hade han hans har henne hennes hit hon honom hos hur här icke igen in
        inga ingen inget innan inom inte ja jag kan kom kommer kunde kunna man med medan mellan men mer mera
        mest mig min mina mitt mot mycket måste ned nej nog nu när någon något några och också om oss på sade
        samma samt sedan ser sig sin sina sitt ska skall skulle som så sådan sådana till trots under upp ut utan
        vad var vara varför varit varje varken vars vart vem vi vid vidare vilka vilken vilket vill ville vår
        våra vårt än ännu även åt över
    """,
}

#: The words by language.
STOP_WORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()}
